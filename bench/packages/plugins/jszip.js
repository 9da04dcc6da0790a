import JSZip from 'jszip';

export default {
  version: '1.0.0',
  description: 'Uses jszip. Use to see that the package works.',
  async handler() {
    const zip = new JSZip();
    zip.file('a.txt', 'hello');
    const again = await JSZip.loadAsync(await zip.generateAsync({ type: 'uint8array', compression: 'DEFLATE' }));
    return await again.file('a.txt').async('string');
  },
  examples: [{ args: {}, expect: 'hello' }],
};
