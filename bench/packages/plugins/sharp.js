import sharp from 'sharp';

export default {
  version: '1.0.0',
  description: 'Uses sharp. Use to see that the package works.',
  async handler() {
    const { width } = await sharp({ create: { width: 4, height: 4, channels: 3, background: 'red' } })
      .png()
      .toBuffer({ resolveWithObject: true })
      .then(({ info }) => info);
    return width;
  },
  examples: [{ args: {}, expect: 4 }],
};
