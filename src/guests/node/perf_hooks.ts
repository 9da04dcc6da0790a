/** node:perf_hooks: the global clock; nothing is observed. */
interface Clock {
  now(): number;
  readonly timeOrigin: number;
}

const clock: Clock = Reflect.get(globalThis, 'performance');

export const performance = Object.assign(Object.create(clock), {
  mark: (name: string) => ({ name, startTime: clock.now(), duration: 0 }),
  measure: (name: string) => ({ name, startTime: 0, duration: clock.now() }),
  clearMarks: () => {},
  clearMeasures: () => {},
  getEntries: () => [],
  getEntriesByName: () => [],
  getEntriesByType: () => [],
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
