/** How pages take calls back for a person, without loading the part. */

import type { ToolResult } from '../../api/result.ts';
import type { SessionState } from '../../core/session/session-state.ts';
import { Slot } from '../../core/slot.ts';
import type { UndoneVia } from './revert.ts';

/** As `session.revert`, on behalf of a page. */
export type TakeBack = (
  session: SessionState,
  callId: string,
  via: UndoneVia,
) => Promise<ToolResult>;

export const takeBackPort = new Slot<TakeBack>();
