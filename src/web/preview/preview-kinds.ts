type KindNames = Readonly<{ all: string; one: string }>

const KINDS: Readonly<Record<string, KindNames>> = {
  winner: { all: 'the winner', one: 'The winner' },
  runner_up: { all: 'runners-up', one: 'A runner-up' },
  voter_share: { all: 'voters', one: 'A voter' },
  lucky_draw: { all: 'the lucky draw', one: 'A winner of the lucky draw' },
  refund: { all: 'players', one: 'A player, whose stake is given back' },
  loyalty: { all: 'loyal players', one: 'Loyal players, as their reward' },
}

/** Names of those who win a kind of prize. Another kind is the operator's own word, without underscores. */
export function prizeKind(kind: string): KindNames {
  const word = kind.replaceAll('_', ' ')
  return KINDS[kind] ?? { all: word, one: word }
}
