import * as z from 'zod';

/** Types and JSON Schema both come from this one schema; `z.infer` gives the handler its types. */
const invoice = z.object({
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .default('EUR')
    .describe('ISO 4217 code, such as EUR'),
  lines: z
    .array(
      z.object({
        description: z.string().min(1),
        quantity: z.number().positive(),
        unitPrice: z.number().describe('Price of one, before tax; negative for a credit'),
        taxPercent: z.number().min(0).max(100).default(0),
        discountPercent: z.number().min(0).max(100).default(0),
      }),
    )
    .min(1)
    .max(500),
  discountPercent: z.number().min(0).max(100).default(0).describe('Discount on the whole invoice, taken before tax'),
});

// Currencies of ISO 4217 whose smallest unit is not a hundredth.
const decimalsByCurrency: Record<string, number> = { JPY: 0, KRW: 0, VND: 0, CLP: 0, ISK: 0, BHD: 3, KWD: 3, OMR: 3, TND: 3 };

export default {
  name: 'invoice_total',
  version: '1.0.0',
  description:
    'Computes an invoice: line totals, discounts, tax by rate, and the amount due, rounded to the smallest unit of the currency. ' +
    'Use for invoices, quotes and carts; do not add up money yourself.',
  tags: ['finance'],
  isParallelSafe: true,
  parameters: invoice,
  examples: [
    {
      args: {
        lines: [
          { description: 'Desk', quantity: 2, unitPrice: 149.99, taxPercent: 19 },
          { description: 'Book', quantity: 1, unitPrice: 20, taxPercent: 7, discountPercent: 10 },
        ],
      },
      expect: {
        currency: 'EUR',
        lines: [
          { description: 'Desk', net: 299.98 },
          { description: 'Book', net: 18 },
        ],
        net: 317.98,
        taxes: [
          { percent: 7, base: 18, tax: 1.26 },
          { percent: 19, base: 299.98, tax: 57 },
        ],
        tax: 58.26,
        total: 376.24,
      },
    },
    {
      args: { currency: 'JPY', discountPercent: 5, lines: [{ description: 'Tea', quantity: 3, unitPrice: 333, taxPercent: 10 }] },
      expect: {
        currency: 'JPY',
        lines: [{ description: 'Tea', net: 949 }],
        net: 949,
        taxes: [{ percent: 10, base: 949, tax: 95 }],
        tax: 95,
        total: 1044,
      },
    },
  ],
  handler: (args: z.input<typeof invoice>) => {
    const { currency, lines, discountPercent } = invoice.parse(args);
    const round = createRounding(decimalsByCurrency[currency] ?? 2);
    const totals = lines.map((line) => ({
      description: line.description,
      percent: line.taxPercent,
      net: round(line.quantity * line.unitPrice * (1 - line.discountPercent / 100) * (1 - discountPercent / 100)),
    }));
    const baseByPercent = new Map<number, number>();
    for (const { percent, net } of totals) baseByPercent.set(percent, (baseByPercent.get(percent) ?? 0) + net);
    const taxes = [...baseByPercent]
      .sort(([a], [b]) => a - b)
      .map(([percent, base]) => ({ percent, base: round(base), tax: round((base * percent) / 100) }));
    const net = round(sum(totals.map((line) => line.net)));
    const tax = round(sum(taxes.map((entry) => entry.tax)));
    const shown = totals.map((line) => ({ description: line.description, net: line.net }));
    return { currency, lines: shown, net, taxes, tax, total: round(net + tax) };
  },
};

/** Half away from zero, as invoices are rounded; the 15 digits take off what binary fractions add (1.005 is 1.005). */
function createRounding(decimals: number): (value: number) => number {
  return (value) => {
    const scaled = Number((Math.abs(value) * 10 ** decimals).toPrecision(15));
    return (Math.sign(value) * Math.round(scaled)) / 10 ** decimals || 0;
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
