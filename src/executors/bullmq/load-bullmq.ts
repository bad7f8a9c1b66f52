/** Loads the optional package `bullmq` synchronously, on first use. */
import { packageFault, requirePackage } from '../../values/packages/missing-package.ts';

/** The parts of `bullmq` that are used. */
export type Bullmq = Pick<
  typeof import('bullmq'),
  'Queue' | 'UnrecoverableError' | 'WaitingError' | 'Worker'
>;

/**
 * @param load loads a package
 * @throws MisuseError `missing_dependency` if it is not installed
 */
export function loadBullmq(load: (specifier: string) => unknown = requirePackage): Bullmq {
  try {
    return load('bullmq') as Bullmq;
  } catch (error) {
    throw packageFault('bullmq', 'carries the calls of a fleet', error);
  }
}
