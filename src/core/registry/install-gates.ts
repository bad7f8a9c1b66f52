/** Gives the tools of a registry and its sessions the gates of the host. */

import type { Gate } from '../../api/gate.ts';
import type { ToolSummary } from '../../api/tool.ts';
import { type AskGates, checkGates, type Layered, made } from '../gates/gate.ts';
import type { SessionSetup } from '../session/session-setup.ts';
import type { SessionState } from '../session/session-state.ts';
import { Slot } from '../slot.ts';
import type { Ports } from './ports.ts';

const where = 'HostToolRegistry';
const none: readonly never[] = Object.freeze([]);

/** The gates of a session. */
const ofSession = new Slot<readonly Gate[]>();

/** Adds the gates of a registry and its sessions to the ports, as the last ones for tools. */
export function installGates(ports: Ports, given: unknown): void {
  const ofRegistry = given === undefined ? none : checkGates(where, given);
  ports.sessions.options.push((setup: SessionSetup, { gates }, place) => {
    if (gates === undefined) return;
    const list = checkGates(place, gates);
    if (list.length > 0) ofSession.set(setup, list);
  });
  ports.tools.gates.push((session, { summary }) => {
    const own = gatesOf(session);
    if (ofRegistry.length === 0 && own.length === 0) return undefined;
    const all = [...layered(ofRegistry, 'registry', summary), ...layered(own, 'session', summary)];
    const [first] = all;
    return first === undefined ? undefined : (made.get(first.gate) as AskGates)(all);
  });
}

/** Those of the session, after those of its outer session that do not judge: it judges itself. */
function gatesOf({ setup, outer }: SessionState): readonly Gate[] {
  const own = ofSession.of(setup) ?? none;
  if (outer === undefined) return own;
  return [...gatesOf(outer).filter(({ at }) => at !== 'judge'), ...own];
}

function layered(gates: readonly Gate[], source: string, tool: ToolSummary): Layered[] {
  return gates.flatMap((gate): Layered[] => {
    const names = { source, what: 'gate', id: gate.name, allowed: undefined };
    try {
      return gate.applies?.(tool) === false ? [] : [{ gate, names, fault: undefined }];
    } catch (thrown) {
      return [{ gate, names, fault: { thrown } }];
    }
  });
}
