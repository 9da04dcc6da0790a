import { all, create } from 'mathjs';

export default {
  version: '1.0.0',
  description: 'Uses mathjs. Use to see that the package works.',
  async handler() {
    const math = create(all);
    return [
      math.evaluate('2 + 3 * 4'),
      math.format(math.evaluate('inv([[1, 2], [3, 4]])'), 4),
      math.derivative('x^2', 'x').toString(),
    ];
  },
  examples: [{ args: {}, expect: [14, '[[-2, 1], [1.5, -0.5]]', '2 * x'] }],
};
