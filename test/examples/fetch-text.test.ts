import { describe, expect, test } from 'vitest';
import { resolveTarget } from '../../examples/tools/http/fetch-text.ts';

const allowed = ['http://127.0.0.1:8080', 'https://status.example.com'];

describe('an address is judged as it was parsed', () => {
  test.each([
    ['/status', 'http://127.0.0.1:8080/status'],
    ['status?x=1', 'http://127.0.0.1:8080/status?x=1'],
    ['https://status.example.com/a', 'https://status.example.com/a'],
    ['HTTPS://STATUS.example.com:443/', 'https://status.example.com/'],
    ['http:/evil.example/x', 'http://127.0.0.1:8080/evil.example/x'],
    ['http://2130706433:8080/', 'http://127.0.0.1:8080/'],
  ])('%j is %s', (target, url) => expect(resolveTarget(target, allowed)?.href).toBe(url));
  test.each([
    '//evil.example/',
    '\\\\evil.example\\',
    '/\\evil.example',
    'http://127.0.0.1:8081/',
    'http://status.example.com/',
    'https://status.example.com.evil.example/',
    'https://status.example.com@evil.example/',
    'https://user:pass@status.example.com/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'javascript:1',
    'http://[::1',
    'ftp://127.0.0.1:8080/',
  ])('%j is refused', (target) => {
    expect(resolveTarget(target, allowed)).toBeUndefined();
  });
  test('without an allowed origin nothing is', () =>
    expect(resolveTarget('/status', [])).toBeUndefined());
});
