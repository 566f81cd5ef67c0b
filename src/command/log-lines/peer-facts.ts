/** Facts about other services: the origin of a mirror, and the witnesses of a log. */
export const PEER_FACTS = {
  mirroring: {
    level: 'info',
    text: 'a mirror of {of} · listening on {url} · metrics on {door} · head {head} · {ms} ms',
    fields: ['of', 'url', 'door', 'port', 'publishPort', 'head', 'ms'],
    said: ['port', 'publishPort'],
  },
  'mirror-asking': { level: 'info', text: 'asks {of} for its log', fields: ['of'] },
  'mirror-building': {
    level: 'info',
    text: 'builds the mirror ({stage}): {events} of {wantedEvents} event(s)',
    fields: ['stage', 'events', 'wantedEvents'],
  },
  'mirror-built': {
    level: 'info',
    text: 'the mirror is built and proved: {events} event(s) in {ms} ms',
    fields: ['events', 'ms'],
  },
  mirrored: {
    level: 'debug',
    text: 'proved {events} more event(s), up to seq {last}',
    fields: ['events', 'last'],
  },
  'origin-lost': {
    level: 'warn',
    text: 'the origin cannot be followed: {reason}',
    fields: ['reason'],
  },
  'origin-back': { level: 'info', text: 'the origin is followed again', fields: [] },
  'origin-contradicts': {
    level: 'error',
    text: 'the origin contradicts what it signed, and is followed no longer: {reason}; the evidence is in {evidence}',
    fields: ['reason', 'evidence'],
  },
  'witness-cosigns': {
    level: 'info',
    text: 'the witness {witness} cosigns the log, up to seq {last}',
    fields: ['witness', 'last'],
  },
  'witness-refuses': {
    level: 'warn',
    text: 'the witness {witness} does not cosign the log: {fault}',
    fields: ['witness', 'fault'],
  },
  'witness-disagrees': {
    level: 'error',
    text: 'the witness {witness} contradicts this log: {fault}',
    fields: ['witness', 'fault'],
  },
  witnessed: {
    level: 'debug',
    text: 'a quorum of witnesses vouches for the events up to seq {last}',
    fields: ['last'],
  },
  'feed-failed': {
    level: 'error',
    text: 'the witnesses cannot be asked, or their cosignatures not kept: {reason}',
    fields: ['reason'],
  },
} as const
