/** The format of `network`: the hosts that an agent in the sandbox of `guard` may reach. */
import { z } from 'zod';
import { hostForms, readHost } from './host-pattern.ts';

const host = z.string().check((context) => {
  if (readHost(context.value) === undefined)
    context.issues.push({
      code: 'custom',
      message: `expected a host such as ${hostForms}`,
      input: context.value,
    });
});

/** The section `network`. */
export const networkEntry = z.array(host);
export type NetworkEntry = z.infer<typeof networkEntry>;
