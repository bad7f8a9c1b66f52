/**
 * The labels of the two suites, as a careful host would write them from the tools' names,
 * descriptions and outputs. They were written once, before the first run.
 */
import type { OutputOrigin, Role } from '../../src/api/origins.ts';

/** What a host says about one tool. */
export interface ToolLabels {
  readonly readOnly?: true;
  readonly openWorld?: true;
  /** @default "trusted" */
  readonly origin?: OutputOrigin;
  readonly origins?: Readonly<Record<string, OutputOrigin>>;
  readonly roles?: Readonly<Record<string, Role>>;
}

/**
 * Whom a mail is from and to is written down by the mail server; what it says is written by anyone.
 */
const mails: ToolLabels = {
  origin: 'untrusted',
  origins: {
    '*.id_': 'trusted',
    '*.sender': 'trusted',
    '*.recipients': 'trusted',
    '*.cc': 'trusted',
    '*.bcc': 'trusted',
    '*.timestamp': 'trusted',
    '*.attachments': 'trusted',
  },
};
/** Anyone who sends an invitation writes its title, description and place. */
const events: ToolLabels = {
  origin: 'untrusted',
  origins: {
    '*.id_': 'trusted',
    '*.participants': 'trusted',
    '*.start_time': 'trusted',
    '*.end_time': 'trusted',
  },
};
/** Who has a file is the drive's own knowledge; what is in it may come from anywhere. */
const files: ToolLabels = {
  origin: 'untrusted',
  origins: {
    '*.id_': 'trusted',
    '*.owner': 'trusted',
    '*.shared_with': 'trusted',
    '*.last_modified': 'trusted',
    '*.size': 'trusted',
  },
};
const contacts: ToolLabels = {
  readOnly: true,
  origin: 'untrusted',
  origins: { '*.email': 'trusted', '*.name': 'trusted' },
};
const reads = (labels: ToolLabels): ToolLabels => ({ ...labels, readOnly: true });
/** A name that anyone in the workspace may choose vouches for itself only. */
const names: ToolLabels = { readOnly: true, origin: 'untrusted', origins: { '*': 'trusted' } };
/** Only members of the workspace can write to each other; guests are not foreseen. */
const messages: ToolLabels = { readOnly: true, origin: 'trusted' };

export const labels: Readonly<Record<string, Readonly<Record<string, ToolLabels>>>> = {
  slack: {
    get_channels: names,
    get_users_in_channel: names,
    read_channel_messages: messages,
    read_inbox: messages,
    get_webpage: { readOnly: true, openWorld: true, origin: 'untrusted' },
    post_webpage: { openWorld: true, origin: 'untrusted' },
    add_user_to_channel: {},
    invite_user_to_slack: {},
    remove_user_from_slack: {},
    send_channel_message: {},
    send_direct_message: {},
  },
  workspace: {
    get_current_day: { readOnly: true },
    get_received_emails: reads(mails),
    get_sent_emails: reads(mails),
    get_draft_emails: reads(mails),
    get_unread_emails: reads(mails),
    search_emails: reads(mails),
    send_email: mails,
    delete_email: {},
    search_contacts_by_name: contacts,
    search_contacts_by_email: contacts,
    get_day_calendar_events: reads(events),
    search_calendar_events: reads(events),
    create_calendar_event: {
      ...events,
      roles: { start_time: 'free', end_time: 'free', location: 'content' },
    },
    reschedule_calendar_event: {
      ...events,
      roles: { new_start_time: 'free', new_end_time: 'free' },
    },
    cancel_calendar_event: {},
    add_calendar_event_participants: events,
    list_files: reads(files),
    search_files: reads(files),
    search_files_by_filename: reads(files),
    get_file_by_id: reads(files),
    create_file: files,
    append_to_file: files,
    share_file: files,
    delete_file: files,
  },
};
