import winston from 'winston';

export default {
  version: '1.0.0',
  description: 'Uses winston. Use to see that the package works.',
  async handler() {
    const lines = [];
    const logger = winston.createLogger({
      transports: [new winston.transports.Console()],
      format: winston.format.printf((info) => {
        lines.push(`${info.level} ${info.message}`);
        return info.message;
      }),
    });
    logger.info('text');
    return lines;
  },
  examples: [{ args: {}, expect: ['info text'] }],
};
