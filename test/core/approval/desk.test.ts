import { describe, expect, test } from 'vitest';
import type { ApprovalRequest } from '../../../src/api/approval.ts';
import { ApprovalDesk } from '../../../src/core/approval/grants.ts';
import { type ReadAnswer, readAnswer } from '../../../src/core/approval/request.ts';

const yes = readAnswer('allow_once') as ReadAnswer;
const no = readAnswer('reject_once') as ReadAnswer;

describe('a desk', () => {
  test('hands an answer to the one call that waits for it; the first answer wins', () => {
    const desk = new ApprovalDesk();
    const heard: ReadAnswer[] = [];
    desk.waiting.set('a', {
      request: {} as ApprovalRequest,
      answer: (answer) => void heard.push(answer),
      onEnd: () => {},
    });
    expect(desk.answer('b', yes)).toBe(false);
    expect(desk.answer('a', no)).toBe(true);
    expect(desk.answer('a', yes)).toBe(false);
    expect(heard).toEqual([no]);
  });

  test.each(['__proto__', 'constructor', 'toString', ''])('has nobody waiting under %j', (id) => {
    expect(new ApprovalDesk().answer(id, yes)).toBe(false);
  });
});
