/** Tools whose calls become rules and policy tests, for the registry of a test and for files. */
import { z } from 'zod';
import { defineTool } from '../../../../src/index.ts';

const face = { description: 'For rules from calls.', annotations: { readOnly: true } };

/** Closed: a rule about another member could never match. */
export const pay = defineTool({
  ...face,
  name: 'pay',
  parameters: z.object({
    to: z.string(),
    cents: z.number().int(),
    note: z.string().optional(),
    pin: z.string().optional(),
    lines: z.array(z.object({ sku: z.string(), count: z.number().min(1) })).optional(),
    tags: z.array(z.string()).optional(),
    express: z.boolean().optional(),
  }),
  handler: () => {
    throw new Error('No trial runs a handler.');
  },
});

/** Open: it takes any object. */
export const open = defineTool({
  ...face,
  name: 'open',
  parameters: { type: 'object' },
  handler: () => 'done',
});

export const tools = [pay, open];
