"""Values of a program: symbols, the places of their values, and the scopes in which they exist.

A symbol stands for the value at a place: an element of a port or of an array, or a slot of its own.
A value that is made inside a loop or a guard does not exist outside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from heelstrike.errors import ProgramError
from heelstrike.ir.block import SX
from heelstrike.ir.code import Place
from heelstrike.ir.number import is_number

if TYPE_CHECKING:
    from heelstrike.ir.scope import Scope


class Values:
    """Symbols of a program named `name`, by the hashes of their elements."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.scopes: list[Scope] = []
        """Loops and guards that are open, the innermost last."""
        self.variables: set[Place] = set()
        """Places whose values may be assigned."""
        self._places: dict[int, tuple[Place, SX]] = {}  # symbol's hash -> place, and the symbol
        self._values = 0  # number of slots
        self._homes: dict[Place, Scope] = {}  # scopes outside which a value does not exist

    def new_value(self, name: str) -> tuple[SX, Place]:
        """Return a new symbol and the slot in which its value will be."""
        symbol, (place,) = self.new_values(name, 1)
        return symbol, place

    def new_values(self, name: str, count: int) -> tuple[SX, list[Place]]:
        """Return a column of new symbols and the slots in which their values will be."""
        symbols = SX.sym(name, count)
        places = [Place(None, self._values + i) for i in range(count)]
        self._values += count
        if self.scopes and (guard := self.scopes[-1].guard()) is not None:
            self._homes |= dict.fromkeys(places, guard.home())
        for place, symbol in zip(places, symbols.nonzeros(), strict=True):
            self._places[symbol.element_hash()] = place, symbol
        return symbols, places

    def declare(self, places: Sequence[Place]) -> None:
        """Make variables of new values."""
        self.variables.update(places)
        if self.scopes:
            self._homes |= dict.fromkeys(places, self.scopes[-1].home())

    def declare_outside(self, places: Sequence[Place], scope: Scope) -> None:
        """Make variables, which exist outside a scope, of new values that were made inside it."""
        self.variables.update(places)
        for place in places:
            self._homes.pop(place, None)
        if scope.outer is not None:
            self._homes |= dict.fromkeys(places, scope.outer.home())

    @property
    def scoped(self) -> bool:
        """Whether some values do not exist everywhere."""
        return bool(self._homes)

    @property
    def value_count(self) -> int:
        """Number of slots so far."""
        return self._values

    def symbol_at(self, place: Place, name: str) -> SX:
        """Return a new symbol for the value at a place."""
        symbol = SX.sym(name)
        self._places[symbol.element_hash()] = place, symbol
        return symbol

    def symbols_of(self, array: str, size: int, stride: int = 0) -> SX:
        """Return new symbols for the elements of an array.

        With a stride they move with a loop's counter.
        """
        symbols = SX.sym(array, size)
        for i, symbol in enumerate(symbols.nonzeros()):
            self._places[symbol.element_hash()] = Place(array, i, stride), symbol
        return symbols

    def place_of(self, symbol: SX, reader: object) -> Place:
        """Return the place of a symbol's value; an error names its reader."""
        found = self._places.get(symbol.element_hash())
        if found is None:
            raise ProgramError(
                f"block '{reader}' of program '{self.name}' uses symbol '{symbol}'",
                value=str(symbol),
                allowed="inputs, memory and lets of this program",
            )
        return found[0]

    def known_place(self, symbol: SX) -> Place | None:
        """Return the place of a symbol's value; None for what is no symbol of this program."""
        found = self._places.get(symbol.element_hash())
        return None if found is None else found[0]

    def places_of(
        self, symbols: Iterable[SX], reader: object
    ) -> tuple[list[tuple[Place, SX]], list[SX]]:
        """Return symbols with the places of their values, and those that stand for numbers."""
        own: list[tuple[Place, SX]] = []
        numbers: list[SX] = []
        for symbol in symbols:
            found = self._places.get(symbol.element_hash())
            if found is not None:
                own.append((found[0], symbol))
            elif is_number(symbol):
                numbers.append(symbol)
            else:
                own.append((self.place_of(symbol, reader), symbol))  # raises an error
        return own, numbers

    def all_symbols(self) -> dict[Place, SX]:
        """Return the symbols by their places."""
        return dict(self._places.values())

    def copy_values(self, other: Values) -> None:
        """Take over the symbols and variables of another program."""
        self.variables = set(other.variables)
        self._places, self._values = dict(other._places), other._values

    def check_exist(self, values: Iterable[tuple[Place, SX]], reader: object) -> None:
        """Raise an error if a value is used outside the scope in which it exists."""
        known: set[Scope | None] = {None}
        for place, symbol in values:
            home = self._homes.get(place)
            if home is None or home in known:
                continue
            if any(scope.knows(home) for scope in self.scopes):
                known.add(home)
                continue
            kind = "loop" if home.need is None else "guard"
            raise ProgramError(
                f"block '{reader}' uses '{symbol}', which exists only inside {kind} '{home.name}'",
                value=str(symbol),
                remedy=f"assign it to a variable that is declared before the {kind}",
            )

    def is_variable(self, entry: SX) -> bool:
        """Return whether an entry is the symbol of a variable."""
        found = self._places.get(entry.element_hash()) if entry.is_symbolic() else None
        return found is not None and found[0] in self.variables
