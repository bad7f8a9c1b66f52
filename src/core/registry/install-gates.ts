/** Gives the tools of a registry and its sessions the gates of the host. */

import type { Gate } from '../../api/gate.ts';
import type { ToolSummary } from '../../api/tool.ts';
import { type AskGates, checkGates, type Layered, made } from '../gates/gate.ts';
import type { SessionSetup } from '../session/session-setup.ts';
import { Slot } from '../slot.ts';
import type { Ports } from './ports.ts';

const where = 'HostToolRegistry';
const none: readonly never[] = Object.freeze([]);

/** The gates of a session. */
const ofSession = new Slot<readonly Gate[]>();

/** Adds the gates of a registry and its sessions to the ports. */
export function installGates(ports: Ports, given: unknown): void {
  const ofRegistry = given === undefined ? none : checkGates(where, given);
  ports.sessions.push((setup: SessionSetup, { gates }, place) => {
    if (gates === undefined) return;
    const list = checkGates(place, gates);
    if (list.length > 0) ofSession.set(setup, list);
  });
  ports.tools.push(({ setup }, { summary }) => {
    const own = ofSession.of(setup);
    if (ofRegistry.length === 0 && own === undefined) return undefined;
    const all = [
      ...layered(ofRegistry, 'registry', summary),
      ...layered(own ?? none, 'session', summary),
    ];
    const [first] = all;
    return first === undefined ? undefined : (made.get(first.gate) as AskGates)(all);
  });
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
