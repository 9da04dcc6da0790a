import { callMutants } from './mutants/calls.ts';
import { capabilityMutants } from './mutants/capabilities.ts';
import { doorMutants } from './mutants/doors.ts';
import { gatewayMutants } from './mutants/gateway.ts';
import { guestMutants } from './mutants/guests.ts';
import { mcpClientMutants } from './mutants/mcp-clients.ts';
import { mcpServerMutants } from './mutants/mcp-servers.ts';
import type { Mutation } from './mutants/mutation.ts';
import { permissionMutants } from './mutants/permissions.ts';
import { processMutants } from './mutants/processes.ts';
import { repairFixerMutants } from './mutants/repair-fixers.ts';
import { repairMutants } from './mutants/repairs.ts';
import { toolMutants } from './mutants/tools.ts';

/** A mutation and the promise that it breaks. */
export interface Mutant extends Mutation {
  readonly promise: string;
}

/** One at least for every line of the promises. */
export const mutants: readonly Mutant[] = [
  permissionMutants,
  repairMutants,
  callMutants,
  capabilityMutants,
  doorMutants,
  gatewayMutants,
  guestMutants,
  mcpClientMutants,
  processMutants,
  toolMutants,
  mcpServerMutants,
  repairFixerMutants,
].flatMap((part) => Object.entries(part).flatMap(([promise, list]) => list.map((mutation) => ({ promise, ...mutation }))));
