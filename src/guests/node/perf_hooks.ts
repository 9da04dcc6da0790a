/** node:perf_hooks: the global clock; nothing is observed. */
export const performance = Object.assign(Object.create(Reflect.get(globalThis, 'performance')), {
  eventLoopUtilization: () => ({ idle: 0, active: 0, utilization: 0 }),
  timerify: (wrapped: unknown) => wrapped,
});
export const constants = {};

export class PerformanceObserver {
  observe(): void {}
  disconnect(): void {}
  takeRecords(): unknown[] {
    return [];
  }
}
