import { isIPv4, isIPv6 } from 'node:net';

const maxFormattedChars = 2048;
const datePattern = /^(\d{4})-(\d\d)-(\d\d)$/;
const timePattern = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):?[0-5]\d)?$/i;
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const hostLabel = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;

/** The formats that are checked; others are notes to the reader, as JSON Schema 2020-12 has it. All run in linear time. */
export const formatChecks: Readonly<Record<string, (text: string) => boolean>> = {
  date: bounded(isDate),
  time: bounded((text) => timePattern.test(text)),
  'date-time': bounded(isDateTime),
  email: bounded(isEmail),
  uri: bounded((text) => /^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text)),
  uuid: bounded((text) => uuidPattern.test(text)),
  ipv4: bounded(isIPv4),
  ipv6: bounded(isIPv6),
  hostname: bounded(isHostname),
};

function bounded(check: (text: string) => boolean): (text: string) => boolean {
  return (text) => text.length <= maxFormattedChars && check(text);
}

function isDate(text: string): boolean {
  const parts = datePattern.exec(text);
  if (parts === null) return false;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isDateTime(text: string): boolean {
  const separator = text.search(/[Tt ]/);
  const time = text.slice(separator + 1);
  return separator === 10 && isDate(text.slice(0, separator)) && timePattern.test(time) && /(Z|[+-]\d\d:?\d\d)$/i.test(time);
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  return at > 0 && at <= 64 && !/[\s@]/.test(text.slice(0, at)) && isHostname(text.slice(at + 1));
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split('.').every((label) => hostLabel.test(label));
}
