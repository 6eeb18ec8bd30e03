"""The claim that a worker has under way, and how another thread gives it up."""

import threading


class PendingClaim:
    """While the event loop stands still, the answer of a claim is not read, and nobody knows what it
    took. The renewal thread then gives the claim up and hands back what it took: nothing that it
    brings is started, and no other claim begins before that is done."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way = False
        self._given_up = False
        self._handing_back = False
        self._closed = False

    def begin(self) -> bool:
        """Begin a claim. Returns False if that must wait."""
        with self._lock:
            if self._handing_back or self._closed:
                return False
            self._under_way, self._given_up = True, False
            return True

    def end(self) -> bool:
        """The claim has its answer, or failed. Returns whether what it brought may be started."""
        with self._lock:
            self._under_way = False
            return not (self._given_up or self._closed)

    def close(self) -> None:
        """From now on nothing that a claim brings is started, and no claim begins."""
        with self._lock:
            self._closed = True

    def give_up(self) -> bool:
        """Let nothing be started that the claim under way brings. Returns whether there is one;
        then `finish_hand_back` has to follow."""
        with self._lock:
            self._given_up = self._handing_back = self._under_way
            return self._under_way

    def finish_hand_back(self) -> None:
        """What the claim took was looked for, and handed back."""
        with self._lock:
            self._handing_back = False
