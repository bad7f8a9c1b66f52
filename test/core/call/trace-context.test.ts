import fc from 'fast-check';
import { expect, test } from 'vitest';
import { takeTraceContext } from '../../../src/core/call/call-tracers.ts';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

test('takes both members where they have their form', () => {
  expect(takeTraceContext({ traceparent, progressToken: 1 })).toEqual({ traceparent });
  expect(takeTraceContext({ traceparent, tracestate: 'rojo=00f0,congo=t61' })).toEqual({
    traceparent,
    tracestate: 'rojo=00f0,congo=t61',
  });
});

test('a state that is too long, or no text, is dropped, and the place stays', () => {
  for (const tracestate of ['x'.repeat(513), '', 'a=\n', 'ä=1', 5, null, ['a=1']])
    expect(takeTraceContext({ traceparent, tracestate })).toEqual({ traceparent });
});

test('only own members count', () => {
  expect(takeTraceContext(Object.create({ traceparent }))).toBeUndefined();
  expect(takeTraceContext(Object.assign(Object.create({ tracestate: 'a=1' }), { traceparent }))) //
    .toEqual({ traceparent });
});

test('anything else is no place', () => {
  for (const wrong of [undefined, null, 5, traceparent, [traceparent], {}, { traceparent: 5 }])
    expect(takeTraceContext(wrong)).toBeUndefined();
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom(`${traceparent}-more`, traceparent.toUpperCase(), ` ${traceparent}`),
      ),
      (text) => {
        expect(takeTraceContext({ traceparent: text })).toBeUndefined();
      },
    ),
  );
});
