import { fileTypeFromBuffer } from 'file-type';

export default {
  version: '1.0.0',
  description: 'Uses file-type. Use to see that the package works.',
  async handler() {
    return (
      await fileTypeFromBuffer(
        new Uint8Array([
          0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0, 0,
          0, 0, 0, 0, 0, 0, 0, 73, 69, 78, 68, 0, 0, 0, 0,
        ]),
      )
    ).ext;
  },
  examples: [{ args: {}, expect: 'png' }],
};
