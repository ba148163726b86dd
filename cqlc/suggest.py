"""What a mistyped word was meant to be."""

from __future__ import annotations

from collections.abc import Iterable


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate fewest edits away from `word`, if it is near enough to be meant.

    Letters' case does not count. A third of the letters may be wrong, one of two; of equally near
    candidates the first wins.
    """
    if len(word) > 100:
        return None
    wanted = word.lower()
    best: str | None = None
    limit = len(wanted) // 3 or len(wanted) // 2
    for candidate in candidates:
        if abs(len(candidate) - len(wanted)) > limit:
            continue
        distance = edit_distance(wanted, candidate.lower(), limit)
        if distance is not None and (best is None or distance < limit):
            best, limit = candidate, distance
        if limit == 0:
            break
    return best


def edit_distance(a: str, b: str, limit: int) -> int | None:
    """Insertions, deletions, changes and swaps of neighbours that lead from `a` to `b`.

    None if more than `limit` are needed.
    """
    before: list[int] = []
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            cost = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return None
        before, previous = previous, row
    return previous[-1] if previous[-1] <= limit else None
