import { expect, test } from 'vitest';
import { loadSdk } from '../../../src/surfaces/acp/sdk.ts';

test.each([
  [
    'that is missing is named, with what installs it',
    () => {
      throw Object.assign(new Error('gone'), { code: 'ERR_MODULE_NOT_FOUND' });
    },
    'npm install @agentclientprotocol/sdk@^2.4.0',
  ],
  [
    'that is too old is not to be installed again',
    () => ({ client() {} }),
    'is installed and failed to load: It has no `McpOverAcpProvider`, which came with version 2.4',
  ],
])('the SDK %s', (_, load, message) => {
  expect(() => loadSdk(load)).toThrowError(
    expect.objectContaining({
      code: 'missing_dependency',
      message: expect.stringContaining(message),
    }),
  );
});
