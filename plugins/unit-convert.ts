interface Arguments {
  /** The number to convert */
  value: number;
  /** Unit that the value is in, by symbol or name: km, mile, °F, kg, cup, mph, MiB, hours … */
  from: string;
  /** Unit to convert to; it must measure the same thing */
  to: string;
  /** Significant digits of the result; default 10 */
  digits?: number;
}

/** One unit: how many of the base unit it is, and an offset added first (temperatures). Names are lower case. */
interface Unit {
  readonly quantity: string;
  readonly factor: number;
  readonly offset: number;
}

// "name|alias|alias": factor to the first unit of the quantity. Symbols whose case matters stand in exactSymbols.
const tables: Record<string, Record<string, number>> = {
  length: {
    'm|meter|meters|metre|metres': 1,
    'km|kilometer|kilometers|kilometre|kilometres': 1000,
    'cm|centimeter|centimeters|centimetre|centimetres': 0.01,
    'mm|millimeter|millimeters|millimetre|millimetres': 0.001,
    'um|µm|micrometer|micrometers|micron|microns': 1e-6,
    'nm|nanometer|nanometers': 1e-9,
    'mi|mile|miles': 1609.344,
    'yd|yard|yards': 0.9144,
    'ft|foot|feet': 0.3048,
    'in|inch|inches': 0.0254,
    'nmi|nautical mile|nautical miles': 1852,
    'ly|light year|light years': 9.4607304725808e15,
  },
  mass: {
    'kg|kilogram|kilograms': 1,
    'g|gram|grams': 0.001,
    'mg|milligram|milligrams': 1e-6,
    'ug|µg|microgram|micrograms': 1e-9,
    't|tonne|tonnes|metric ton|metric tons': 1000,
    'lb|lbs|pound|pounds': 0.45359237,
    'oz|ounce|ounces': 0.028349523125,
    'st|stone|stones': 6.35029318,
    'short ton|short tons': 907.18474,
  },
  volume: {
    'l|liter|liters|litre|litres': 1,
    'ml|milliliter|milliliters|millilitre|millilitres': 0.001,
    'm3|m³|cubic meter|cubic meters': 1000,
    'cm3|cm³|cubic centimeter|cubic centimeters': 0.001,
    'gal|gallon|gallons|us gallon|us gallons': 3.785411784,
    'imperial gallon|imperial gallons': 4.54609,
    'qt|quart|quarts': 0.946352946,
    'pt|pint|pints': 0.473176473,
    'cup|cups': 0.2365882365,
    'fl oz|fluid ounce|fluid ounces': 0.0295735295625,
    'tbsp|tablespoon|tablespoons': 0.01478676478125,
    'tsp|teaspoon|teaspoons': 0.00492892159375,
  },
  area: {
    'm2|m²|square meter|square meters': 1,
    'km2|km²|square kilometer|square kilometers': 1e6,
    'cm2|cm²|square centimeter|square centimeters': 1e-4,
    'ha|hectare|hectares': 1e4,
    'acre|acres': 4046.8564224,
    'mi2|mi²|square mile|square miles': 2589988.110336,
    'ft2|ft²|square foot|square feet': 0.09290304,
    'in2|in²|square inch|square inches': 0.00064516,
  },
  speed: {
    'm/s|meters per second': 1,
    'km/h|kmh|kph|kilometers per hour': 1 / 3.6,
    'mph|mi/h|miles per hour': 0.44704,
    'kn|knot|knots': 1852 / 3600,
    'ft/s|feet per second': 0.3048,
  },
  time: {
    's|sec|second|seconds': 1,
    'ms|millisecond|milliseconds': 0.001,
    'us|µs|microsecond|microseconds': 1e-6,
    'min|minute|minutes': 60,
    'h|hr|hour|hours': 3600,
    'd|day|days': 86_400,
    'week|weeks': 604_800,
    'year|years': 31_557_600,
  },
  data: {
    'byte|bytes': 1,
    'bit|bits': 0.125,
    'kb|kilobyte|kilobytes': 1e3,
    'mb|megabyte|megabytes': 1e6,
    'gb|gigabyte|gigabytes': 1e9,
    'tb|terabyte|terabytes': 1e12,
    'pb|petabyte|petabytes': 1e15,
    'kib|kibibyte|kibibytes': 1024,
    'mib|mebibyte|mebibytes': 1024 ** 2,
    'gib|gibibyte|gibibytes': 1024 ** 3,
    'tib|tebibyte|tebibytes': 1024 ** 4,
    'kilobit|kilobits': 125,
    'megabit|megabits': 125e3,
    'gigabit|gigabits': 125e6,
  },
};

// Degrees: (value + offset) * factor is kelvin.
const temperatures: Record<string, readonly [factor: number, offset: number]> = {
  'k|kelvin': [1, 0],
  'c|°c|celsius': [1, 273.15],
  'f|°f|fahrenheit': [5 / 9, 459.67],
};

// A capital letter alone makes the difference: B is a byte and b a bit.
const exactSymbols: Record<string, string> = {
  B: 'byte',
  b: 'bit',
  kb: 'kilobit',
  Mb: 'megabit',
  Gb: 'gigabit',
  Mbit: 'megabit',
};

const unitsByName = readTables();

export default {
  name: 'unit_convert',
  version: '1.0.0',
  description:
    'Converts between units of length, mass, volume, area, speed, time, data and temperature. ' +
    'Use for every conversion of measures; a wrong unit name is answered with the names that are known.',
  tags: ['math', 'units'],
  isParallelSafe: true,
  examples: [
    { args: { value: 5, from: 'miles', to: 'km' }, expect: { value: 8.04672, unit: 'km', quantity: 'length' } },
    { args: { value: 98.6, from: '°F', to: 'celsius' }, expect: { value: 37, unit: 'celsius', quantity: 'temperature' } },
    { args: { value: 1, from: 'GiB', to: 'MB' }, expect: { value: 1073.741824, unit: 'MB', quantity: 'data' } },
    { args: { value: 100, from: 'Mb', to: 'MB' }, expect: { value: 12.5, unit: 'MB', quantity: 'data' } },
    { args: { value: 2, from: 'cups', to: 'ml', digits: 4 }, expect: { value: 473.2, unit: 'ml', quantity: 'volume' } },
  ],
  handler: ({ value, from, to, digits = 10 }: Arguments) => {
    const source = findUnit(from);
    const target = findUnit(to);
    if (source.quantity !== target.quantity) {
      throw new TypeError(
        `"${from}" measures ${source.quantity} and "${to}" measures ${target.quantity}; they cannot be converted.`,
      );
    }
    const base = (value + source.offset) * source.factor;
    if (source.quantity === 'temperature' && base < 0) throw new RangeError(`${value} ${from} is below absolute zero.`);
    const result = base / target.factor - target.offset;
    return { value: roundTo(result, digits), unit: to, quantity: source.quantity };
  },
};

function findUnit(name: string): Unit {
  const trimmed = name.trim();
  const known = unitsByName.get(exactSymbols[trimmed] ?? trimmed.toLowerCase());
  if (known) return known;
  const names = Object.entries({ ...tables, temperature: temperatures }).map(
    ([quantity, units]) =>
      `${quantity}: ${Object.keys(units)
        .map((names) => names.split('|')[0])
        .join(', ')}`,
  );
  throw new TypeError(`Unknown unit "${name}". Known are ${names.join('; ')}.`);
}

function roundTo(value: number, digits: number): number {
  return Number(value.toPrecision(Math.min(Math.max(Math.round(digits), 1), 17)));
}

function readTables(): Map<string, Unit> {
  const units = new Map<string, Unit>();
  const add = (names: string, unit: Unit) => {
    for (const name of names.split('|')) units.set(name, unit);
  };
  for (const [quantity, table] of Object.entries(tables)) {
    for (const [names, factor] of Object.entries(table)) add(names, { quantity, factor, offset: 0 });
  }
  for (const [names, [factor, offset]] of Object.entries(temperatures)) add(names, { quantity: 'temperature', factor, offset });
  return units;
}
