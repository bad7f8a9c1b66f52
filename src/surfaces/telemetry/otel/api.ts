/** Loads the optional package with OpenTelemetry's interface on first use, synchronously. */
import { packageFault, requirePackage } from '../../../values/packages/missing-package.ts';

/** The parts of `@opentelemetry/api` that are used. */
export type OtelApi = Pick<
  typeof import('@opentelemetry/api'),
  'context' | 'metrics' | 'propagation' | 'trace'
>;

/**
 * Loads the package. Its copies share one state for the process, so it does not matter which one
 * the host has imported.
 * @throws MisuseError `missing_dependency` if it is not installed.
 * @param load Loads a module of the package.
 */
export function loadApi(load: (specifier: string) => unknown = requirePackage): OtelApi {
  try {
    const { context, metrics, propagation, trace } = load('@opentelemetry/api') as OtelApi;
    // Plain members: those of the package are getters, and are read many times a call.
    return { context, metrics, propagation, trace };
  } catch (error) {
    throw packageFault('@opentelemetry/api', 'is the interface of OpenTelemetry', error);
  }
}
