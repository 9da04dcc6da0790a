import { Command } from 'commander';

export default {
  version: '1.0.0',
  description: 'Uses commander. Use to see that the package works.',
  async handler() {
    const program = new Command().option('-n, --number <n>').argument('<file>');
    program.parse(['-n', '3', 'a.txt'], { from: 'user' });
    return [program.opts(), program.args];
  },
  examples: [{ args: {}, expect: [{ number: '3' }, ['a.txt']] }],
};
