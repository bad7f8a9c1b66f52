/**
 * Loads the optional package with the Cedar engine on first use. It loads synchronously, because
 * policies are parsed where they are written.
 */
import { packageFault, requirePackage } from '../../../values/packages/missing-package.ts';

/** The parts of the engine that are used. */
export type CedarEngine = Pick<
  typeof import('@cedar-policy/cedar-wasm/nodejs'),
  | 'checkParseEntities'
  | 'checkParsePolicySet'
  | 'checkParseSchema'
  | 'policySetTextToParts'
  | 'policyToJson'
  | 'preparsePolicySet'
  | 'preparseSchema'
  | 'statefulIsAuthorized'
  | 'validate'
>;

/**
 * Loads the engine. Node keeps one copy for the process.
 * @throws MisuseError `missing_dependency` if the package is not installed.
 * @param load Loads a module of the package.
 */
export function loadCedar(load: (specifier: string) => unknown = requirePackage): CedarEngine {
  try {
    // The package's main entry imports WebAssembly as a module, which Node does not support by
    // default.
    return load('@cedar-policy/cedar-wasm/nodejs') as CedarEngine;
  } catch (error) {
    throw packageFault('@cedar-policy/cedar-wasm', 'evaluates Cedar policies', error);
  }
}
