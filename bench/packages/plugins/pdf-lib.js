import { PDFDocument } from 'pdf-lib';

export default {
  version: '1.0.0',
  description: 'Uses pdf-lib. Use to see that the package works.',
  async handler() {
    const doc = await PDFDocument.create();
    doc.addPage([200, 200]).drawText('hello');
    const again = await PDFDocument.load(await doc.save());
    return again.getPageCount();
  },
  examples: [{ args: {}, expect: 1 }],
};
