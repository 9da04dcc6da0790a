import { daemonContracts } from '../contracts/daemon.ts';
import { runDoctor } from '../doctor/run-doctor.ts';
import { implement, type Operation } from '../operation.ts';
import type { OperationParts } from '../parts.ts';

/** The doctor, asked from outside while the daemon serves. */
export function createDoctorOperations({ config, configState, store }: OperationParts): Operation[] {
  return [implement(daemonContracts.doctor, () => runDoctor({ config, isServing: true, configState: configState(), store }))];
}
