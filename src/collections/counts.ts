/** How many there are of each key. A key of which there are none is forgotten. */
export class Counts extends Map<string, number> {
  of(key: string): number {
    return this.get(key) ?? 0;
  }

  add(key: string, by: number): void {
    const count = this.of(key) + by;
    if (count > 0) this.set(key, count);
    else this.delete(key);
  }
}
