/** Conversations directly over the engine, with what `originRules` recommends. */
import { judgeInput } from '../../src/origins/judge.ts';
import { looksLikeUrl } from '../../src/origins/known-containers.ts';
import { outputLabels } from '../../src/origins/output-labels.ts';
import { createOriginRecord } from '../../src/origins/record.ts';
import { inputRoles } from '../../src/origins/roles.ts';
import type { Conversation, MakeConversation } from './replay.ts';

export const overEngine: MakeConversation = (tools, labels): Conversation => {
  const record = createOriginRecord();
  let calls = 0;
  return {
    said: (text) => record.said(text),
    isHeld({ function: name, args }) {
      const { readOnly, openWorld, roles: paths } = labels[name] ?? {};
      const roles = inputRoles({ schema: tools[name]?.parameters, paths });
      const judged = judgeInput(record, args, roles);
      const foreign = judged.filter(({ origin }) => origin === 'untrusted' || origin === 'unknown');
      if (readOnly !== true) return foreign.length > 0;
      return (
        openWorld === true &&
        foreign.some(({ role, value }) => role === 'target' && looksLikeUrl(String(value)))
      );
    },
    ran({ function: name, args, result }) {
      const { origin = 'trusted', origins: paths } = labels[name] ?? {};
      record.output(result, {
        callId: String(++calls),
        toolName: name,
        labels: outputLabels({ origin, paths }),
        input: args,
      });
    },
  };
};
