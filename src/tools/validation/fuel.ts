/** Thrown inside a validation that did more work than it was given; never leaves this folder. */
export class FuelExhausted extends Error {}

/**
 * What a validation may still do. A schema belongs to a plugin and a value to a caller: both are hostile, and together
 * they can ask for exponential work (recursive references, `anyOf` over long arrays, many patterns over one long text).
 * Every place that repeats work charges here, so one validation is bounded whatever the two are.
 */
export type Fuel = ReturnType<typeof createFuel>;

/** Creates an empty tank. Validation is synchronous, so one serves all schemas. */
export function createFuel() {
  let left = 0;
  return {
    refill(units: number): void {
      left = units;
    },
    /** Throws FuelExhausted when nothing is left. */
    burn(units: number): void {
      left -= units;
      if (left < 0) throw new FuelExhausted('validation took too long');
    },
  };
}
