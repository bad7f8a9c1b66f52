/** Policies in Cedar. */

export type { PolicyDocument } from '../policy-document.ts';
export type { CedarOptions } from './cedar-policy.ts';
export { cedarPolicy } from './cedar-policy.ts';
export type { CedarEntity, CedarUid } from './entities.ts';
