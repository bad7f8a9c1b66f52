/** Policies in Rego, evaluated by OPA. */

export type { PolicyDocument } from '../policy-document.ts';
export type { OpaOptions, OpaServerOptions, OpaWasmOptions } from './opa-policy.ts';
export { opaPolicy } from './opa-policy.ts';
export type { OpaFetch } from './server.ts';
