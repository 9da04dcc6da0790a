interface Arguments {
  /** City, optionally with the country: "Lyon" or "Lyon, France" */
  city: string;
  /** Days of forecast after today; default 0, at most 7 */
  days?: number;
}

const geocoding = 'https://geocoding-api.open-meteo.com/v1/search';
const forecast = 'https://api.open-meteo.com/v1/forecast';
const outlooks: [firstCode: number, text: string][] = [
  [95, 'thunderstorm'],
  [85, 'snow showers'],
  [80, 'rain showers'],
  [71, 'snow'],
  [61, 'rain'],
  [51, 'drizzle'],
  [45, 'fog'],
  [3, 'overcast'],
  [1, 'partly cloudy'],
  [0, 'clear'],
];

export default {
  name: 'weather',
  version: '1.0.0',
  description: 'Current weather and forecast of a city, in metric units. Use for every question about the weather.',
  tags: ['weather', 'web'],
  // The only plugin here that leaves the machine. Until this request is granted its calls end with permission-denied.
  permissions: { net: ['geocoding-api.open-meteo.com', 'api.open-meteo.com'] },
  isResearch: true,
  isParallelSafe: true,
  timeoutMs: 15_000,
  idempotent: true,
  retries: 1,
  handler: async ({ city, days = 0 }: Arguments) => {
    const place = await findPlace(city);
    const report = await readJson(forecast, {
      latitude: place.latitude,
      longitude: place.longitude,
      timezone: 'auto',
      current: 'temperature_2m,wind_speed_10m,relative_humidity_2m,weather_code',
      daily: 'temperature_2m_max,temperature_2m_min,precipitation_sum,weather_code',
      forecast_days: Math.min(Math.max(Math.floor(days), 0), 7) + 1,
    });
    const current = asRecord(report.current);
    return {
      place: [place.name, place.country].filter(Boolean).join(', '),
      time: current.time,
      outlook: describeCode(current.weather_code),
      temperatureC: current.temperature_2m,
      windKmh: current.wind_speed_10m,
      humidityPercent: current.relative_humidity_2m,
      days: readDays(asRecord(report.daily)),
    };
  },
};

async function findPlace(city: string): Promise<Record<string, unknown>> {
  const [name = city, country] = city.split(',').map((part) => part.trim());
  const answer = await readJson(geocoding, { name, count: 10, format: 'json' });
  const places = (Array.isArray(answer.results) ? answer.results : []).map(asRecord);
  const inCountry = places.find((place) => String(place.country).toLowerCase() === country?.toLowerCase());
  const place = inCountry ?? places[0];
  if (!place) throw new Error(`No place called "${city}" was found. Try the city's name alone, in English.`);
  return place;
}

async function readJson(address: string, query: Record<string, unknown>): Promise<Record<string, unknown>> {
  const url = new URL(address);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.host} answered ${response.status}; the service may be down, try again later.`);
  return asRecord(await response.json());
}

function readDays(daily: Record<string, unknown>) {
  const column = (name: string): unknown[] => {
    const values = daily[name];
    return Array.isArray(values) ? values : [];
  };
  return column('time').map((date, index) => ({
    date,
    outlook: describeCode(column('weather_code')[index]),
    minC: column('temperature_2m_min')[index],
    maxC: column('temperature_2m_max')[index],
    rainMm: column('precipitation_sum')[index],
  }));
}

/** WMO weather codes come in groups; the group is enough for an outlook. */
function describeCode(code: unknown): string {
  return outlooks.find(([first]) => typeof code === 'number' && code >= first)?.[1] ?? 'unknown';
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
