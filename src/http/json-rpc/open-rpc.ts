import { propertyNames } from '../../config/schema-faults.ts';
import { propertySchemas } from '../../operations/invoke.ts';
import type { OperationContract } from '../../operations/operation.ts';

/** Describes every method as an OpenRPC 1.3 document; what `rpc.discover` answers. */
export function describeMethods(operations: readonly OperationContract[]) {
  return {
    openrpc: '1.3.2',
    info: { title: 'Hotcell', version: '1', description: 'JSON-RPC 2.0 over WebSocket at /ws; params are by name.' },
    methods: operations.map((operation) => ({
      name: operation.name,
      summary: operation.summary,
      paramStructure: 'by-name',
      params: propertyNames(operation.input).map((name) => ({
        name,
        required: requiredNames(operation.input).includes(name),
        schema: propertySchemas(operation)[name],
      })),
      result: { name: 'result', schema: operation.output },
      'x-role': operation.role,
      ...(operation.streams ? { 'x-events': true } : {}),
    })),
  };
}

/** The names of the properties that an input must have. */
export function requiredNames(schema: object): string[] {
  const required = 'required' in schema ? schema.required : undefined;
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}
