/** Where outputs came from that other parts keep and show again. */

import type { FoundCall } from '../../core/call/call.ts';
import type { Provenance } from '../../core/call/ports.ts';
import { EchoFilter } from './echo-filter.ts';
import { echoesOf, mayRepeatUntrusted, observeUnknown } from './remember.ts';
import { ofReader, type ReadBack } from './shown-texts.ts';
import { labelsOf } from './tool-labels.ts';
import { omission, wholeWords } from './whole-words.ts';

export const provenance: Provenance = {
  isMixed: mayRepeatUntrusted,
  mix: observeUnknown,
  about(call) {
    const { output: labels } = labelsOf(call.binding);
    // A range of the text has no fields, and a labelled field vouches only for its whole value.
    const isTrusted = !labels.mixed && labels.fields === undefined && !mayRepeatUntrusted(call);
    return isTrusted
      ? { origin: 'trusted', echoes: String(echoesOf(call)) }
      : { origin: 'untrusted' };
  },
  readBack(call: FoundCall, tool, { origin, echoes }) {
    const filter = EchoFilter.read(echoes);
    const readBack: ReadBack = {
      tool,
      // Without its input, it is unknown what a trusted output only repeats.
      origin: origin === 'trusted' && filter !== undefined ? 'trusted' : 'untrusted',
      echoes: filter,
      words: '',
    };
    ofReader.set(call.more, readBack);
    return (text, ranges) => {
      const words = ranges.map(({ start, end }) => wholeWords(text, start, end));
      readBack.words = words.join(omission);
    };
  },
};
