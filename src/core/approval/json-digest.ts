/** Digests that bind an approval to what was shown. */
import { createHash } from 'node:crypto';
import { canonicalJson, type JsonObject } from '../../values/json/index.ts';

/** A digest of canonical JSON. */
export function jsonDigest(value: JsonObject): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url');
}
