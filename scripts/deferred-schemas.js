// In the bundle of the client this stands for "typebox". Contracts make their schemas when they are read, and a command
// needs none of them as long as it speaks to a daemon of the same program: a schema is made when somebody looks into it.
const load = () => require('./schemas.cjs').Type;
const schemas = new WeakMap();

function make(maker, values) {
  return load()[maker](...values.map(finish));
}

/** Arguments as the real maker wants them. A schema that is made stays what it is: a copy would lose what is not enumerable. */
function finish(value) {
  const schema = schemas.get(value);
  if (schema !== undefined) return schema();
  if (Array.isArray(value)) return value.map(finish);
  const isObject = typeof value === 'object' && value !== null && !('~kind' in value);
  const isPlain = isObject && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, finish(inner)])) : value;
}

function defer(maker, values) {
  let schema;
  const look = () => {
    schema ??= make(maker, values);
    return schema;
  };
  const proxy = new Proxy(
    {},
    {
      // The properties of an object are what it was made of: to spread them needs no schema.
      get: (_, key) => (key === 'properties' && maker === 'Object' ? values[0] : look()[key]),
      has: (_, key) => key in look(),
      ownKeys: () => Reflect.ownKeys(look()),
      // What the empty object behind the proxy does not have may only be told as configurable.
      getOwnPropertyDescriptor: (_, key) => {
        const property = Object.getOwnPropertyDescriptor(look(), key);
        return property && { ...property, configurable: true };
      },
    },
  );
  schemas.set(proxy, look);
  return proxy;
}

export const Type = new Proxy(
  {},
  {
    get:
      (_, maker) =>
      (...values) =>
        defer(maker, values),
  },
);
