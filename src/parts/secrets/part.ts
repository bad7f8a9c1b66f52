/** Secrets as a part of a registry: what schemas and paths mark as secret is hidden. */

import type { Part } from '../../core/part.ts';
import { definePart } from '../../core/registry/define-part.ts';
import { arrayOf, reading, text, withDefault } from '../../values/options/index.ts';
import { maskingOf, maskingSlot } from './masking-of.ts';
import { SecretMasking } from './secret-masking.ts';

/**
 * The part that hides secrets in events, questions, errors and logs: the values of fields that a
 * schema marks with `secret`, and of those that the option `redact` of a registry names.
 *
 * @example
 * ```ts
 * import { defineTool, HostToolRegistry } from 'host-tools/core';
 * import { secrets } from 'host-tools/secrets';
 * import { z } from 'zod';
 *
 * const registry = new HostToolRegistry({ parts: [secrets()], redact: ['password'] });
 * registry.register(
 *   defineTool({
 *     name: 'sign_in',
 *     description: 'Signs in with a PIN.',
 *     parameters: z.object({ pin: z.string().meta({ secret: true }) }),
 *     handler: () => 'signed in',
 *   }),
 * );
 * ```
 */
export function secrets(): Part {
  return part;
}

const part = definePart({
  name: 'secrets',
  options: {
    registry: { redact: withDefault(arrayOf(text(1), 'non-empty paths'), Object.freeze([])) },
  },
  marks: { secret: true },
  install(ports, registry, { redact }) {
    const masking = new SecretMasking();
    reading('HostToolRegistry', 'redact', () => masking.use(redact as readonly string[]));
    maskingSlot.set(registry, masking);
    ports.calls.masking = masking;
    ports.copies.push((from) => masking.use(maskingOf(from)?.paths ?? []));
  },
});
