/** A link over a client that the host has connected and will close. */
import type { Link, OpenOptions } from './link.ts';
import type { ConnectedMcpClient } from './sdk.ts';

/** Closing the link only removes its listeners; the client stays open. */
export function adoptClient(client: ConnectedMcpClient, { toolsChanged }: OpenOptions): Link {
  const before = client.onclose;
  let lost = client.transport === undefined;
  let released = false;
  const link: Link = {
    client,
    onlost: undefined,
    get lost() {
      return lost;
    },
    // Only the host may give its client up. The next call tries it again.
    drop() {},
    close: async () => {
      if (released) return;
      released = true;
      client.onclose = before;
      client.removeNotificationHandler('notifications/tools/list_changed');
    },
  };
  client.onclose = () => {
    before?.();
    lost = true;
    link.onlost?.();
  };
  client.setNotificationHandler('notifications/tools/list_changed', () => toolsChanged());
  return link;
}
