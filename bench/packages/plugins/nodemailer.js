import nodemailer from 'nodemailer';

export default {
  version: '1.0.0',
  description: 'Uses nodemailer. Use to see that the package works.',
  async handler() {
    const sent = await nodemailer
      .createTransport({ jsonTransport: true })
      .sendMail({ from: 'a@b.cd', to: 'e@f.gh', subject: 'hi', text: 'text' });
    return JSON.parse(sent.message).subject;
  },
  examples: [{ args: {}, expect: 'hi' }],
};
