/** Facts of a witness (`daybook witness`). */
export const WITNESS_FACTS = {
  witnessing: {
    level: 'info',
    text: 'the witness {of} · listening on {url} · metrics on {door} · {logs} logs · {ms} ms',
    fields: ['of', 'url', 'door', 'port', 'publishPort', 'logs', 'ms'],
    said: ['port', 'publishPort'],
  },
  cosigned: { level: 'debug', text: 'cosigned {of} at size {size}', fields: ['of', 'size'] },
  'checkpoint-refused': {
    level: 'info',
    text: 'refused to cosign a checkpoint: {fault}',
    fields: ['status', 'fault'],
  },
  'witness-back': {
    level: 'error',
    text: 'the state of this witness for {of} went back: its own cosignature of size {size} is unknown to it',
    fields: ['of', 'size'],
  },
  'log-contradicts': {
    level: 'error',
    text: '{of} has signed two trees of one size; the evidence is in {evidence}',
    fields: ['of', 'evidence'],
  },
  'witness-clock': {
    level: 'error',
    text: 'the clock is {ms} ms behind the last cosignature of {of}: nothing of it is cosigned',
    fields: ['of', 'ms'],
  },
  'witness-unwritten': {
    level: 'error',
    text: 'nothing is cosigned, because the state cannot be written: {reason}',
    fields: ['reason'],
  },
  'witness-failed': {
    level: 'error',
    text: 'a request to the witness could not be answered',
    fields: ['err'],
  },
} as const
