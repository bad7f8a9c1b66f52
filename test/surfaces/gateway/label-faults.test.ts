import { expect, test } from 'vitest';
import { defineTool } from '../../../src/index.ts';
import { labelFaults } from '../../../src/surfaces/gateway/label-faults.ts';

const file = defineTool({
  name: 'a.read_file',
  description: 'R.',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string' } },
    additionalProperties: false,
  },
  outputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  handler: () => ({}),
}) as never;
const drift = [{ name: 'a.drifted', pinned: undefined, found: undefined }];
const faults = (labels: object) =>
  labelFaults({ command: 'x', labels } as never, { tools: [file], drift }, 'a.');

test('labels that label something are right', () => {
  expect(
    faults({
      'read_*': { roles: { nothing: 'free' } },
      read_file: { roles: { path: 'target' }, origins: { text: 'untrusted' } },
      drifted: { origin: 'trusted' },
    }),
  ).toEqual([]);
});

test('a key that matches no tool is named, with the tool that was probably meant', () => {
  expect(faults({ read_fle: { origin: 'trusted' }, zzzzzz: {} })).toEqual([
    '`labels`: `read_fle` matches none of its tools, did you mean `read_file`?',
    '`labels`: `zzzzzz` matches none of its tools',
  ]);
});

test('so is a field that the tool does not have', () => {
  expect(faults({ read_file: { roles: { pth: 'target' }, origins: { txt: 'trusted' } } })).toEqual([
    '`labels`: `read_file` has no field `pth` for `roles`',
    '`labels`: `read_file` has no field `txt` for `origins`',
  ]);
});
