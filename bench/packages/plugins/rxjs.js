import { firstValueFrom, from, map, timer, toArray } from 'rxjs';

export default {
  version: '1.0.0',
  description: 'Uses rxjs. Use to see that the package works.',
  async handler() {
    await firstValueFrom(timer(1));
    return await firstValueFrom(
      from([1, 2]).pipe(
        map((n) => n + 1),
        toArray(),
      ),
    );
  },
  examples: [{ args: {}, expect: [2, 3] }],
};
