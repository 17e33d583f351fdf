"""Writes crates/core/vectors/public.json: public IDs, by the package `cryptography` of PyPI.

* `python3 crates/reference/public.py` writes the file.
* `python3 crates/reference/public.py --check` writes nothing, and fails if the file differs from what would be written.

Like the model beside it, this shares no code with the core. docs/guides/public-ids.md says what the forms are for.
"""

import json
import sys
from pathlib import Path

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.cmac import CMAC

FILE = Path(__file__).parents[2] / "crates/core/vectors/public.json"
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
BITS = {"default": 63, "sonyflake": 63, "safe53": 53, "discord": 64, "mastodon": 64, "tsid": 64}
KEYS = {
    "a": bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"),  # The example of NIST SP 800-38B.
    "b": bytes.fromhex("000102030405060708090a0b0c0d0e0f"),
    "c": bytes.fromhex("8f3c51d7e6a90b4472fd186ec0359ba1"),
    "first": bytes(15) + b"\1",
    "last": b"\xff" * 15 + b"\xfe",
}

COMMENT = [
    "Written by `python3 crates/reference/public.py`, which shares no code with the core. Do not edit.",
    "IDs are decimal strings; bytes, blocks and keys are hexadecimal. A layout is one of the library's named layouts.",
    "base62: 0-9, A-Z, a-z, the most significant digit first, zeros in front. Numbers are big-endian. AES and CMAC have 128 bits.",
    "keys: each key by its name, with its text and its fingerprint.",
    "The text of a key: `frazilkey_`, the key as 22 digits of base62, and the first 4 bytes of the fingerprint as 6 digits.",
    "derived: CMAC(key, 00000001 ‖ label ‖ 00 ‖ kind ‖ 00000080), which is SP 800-108r1 in counter mode.",
    "The fingerprint: the first 8 bytes of what is derived with the label `frazil fingerprint` and an empty kind.",
    "sealed: block is AES(derived, ID as 8 bytes ‖ 8 zero bytes) with the label `frazil sealed`, text the block in 22 digits. Both ways.",
    "short: value is slot * 2^bits + the permuted ID, text the value in 11 digits. Label `frazil short`. Both ways.",
    "bits: 64 for a layout of 64 bits, otherwise 63.",
    "rounds: the halves of an ID before the first round and after each of the twelve: [the high bits - 32 bits, the low 32 bits].",
    "rotated: texts that one of several keys opens. keys: names, as they are given; for the short form with their slots.",
    "refusedSealed, refusedShort: texts that do not open with these keys, for this kind and layout.",
    "Their `why`: length, digit, range (more than 128 bits), slot (not that of a key), key (padding is not zero), id (not of the layout).",
    "refusedKeys: texts that are not keys. `why`: prefix, length, digit, range (more than 128 bits), checksum, equal (all bytes).",
    "With `jsOnly: true` they are not texts; `{ bytes: n }` stands for a Uint8Array of n bytes.",
    "kinds, refusedKinds: what a kind may be, and what it may not.",
]


def base62(value, width):
    text = ""
    for _ in range(width):
        value, digit = divmod(value, 62)
        text = DIGITS[digit] + text
    assert value == 0
    return text


def number(text):
    value = 0
    for character in text:
        value = 62 * value + DIGITS.index(character)
    return value


def aes(key, block):
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(block) + encryptor.finalize()


def derive(key, label, kind):
    cmac = CMAC(algorithms.AES(key))
    cmac.update(b"\0\0\0\1" + label.encode() + b"\0" + kind.encode() + b"\0\0\0\x80")
    return cmac.finalize()


def fingerprint(key):
    return derive(key, "frazil fingerprint", "")[:8]


def key_text(value, check):
    return f"frazilkey_{base62(value, 22)}{base62(check, 6)}"


def text_of_key(key):
    return key_text(int.from_bytes(key, "big"), int.from_bytes(fingerprint(key)[:4], "big"))


def seal(key, kind, high, low=0):
    return aes(derive(key, "frazil sealed", kind), high.to_bytes(8, "big") + low.to_bytes(8, "big"))


def sealed_text(key, kind, high, low=0):
    return base62(int.from_bytes(seal(key, kind, high, low), "big"), 22)


def halves_of(key, kind, bits, id):
    """The halves before the first round, and after each."""
    derived = derive(key, "frazil short", kind)
    left, right = divmod(id, 2**32)
    all_halves = [(left, right)]
    for round in range(12):
        def f(x):
            return int.from_bytes(aes(derived, bytes([bits, round]) + bytes(10) + x.to_bytes(4, "big"))[:4], "big")
        if round % 2 == 0:
            left ^= f(right) % 2 ** (bits - 32)
        else:
            right ^= f(left)
        all_halves.append((left, right))
    return all_halves


def short_value(key, kind, layout, slot, id):
    bits = 64 if BITS[layout] == 64 else 63
    left, right = halves_of(key, kind, bits, id)[-1]
    return slot * 2**bits + left * 2**32 + right


def short_text(key, kind, layout, slot, id):
    return base62(short_value(key, kind, layout, slot, id), 11)


def ids_of(layout):
    end = 2 ** BITS[layout]
    edges = [0, 1, 2, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**53 - 1, 2**53, 2**62, 2**63 - 2, 2**63 - 1, 2**63, 2**64 - 2]
    real = [382138004275228672, 175928847299117063, 1541815603606036480, 12345678901234567890]
    return [id for id in edges + real if id < end - 1] + [end - 1]


def random_ids(count):
    """Knuth's MMIX linear congruential generator, as in src/vectors/text.rs."""
    state = 1
    for _ in range(count):
        id = 0
        for _ in range(2):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            id = id << 32 | state >> 32
        yield id


def sealed():
    def case(key, kind, layout, id):
        block = seal(KEYS[key], kind, id)
        text = sealed_text(KEYS[key], kind, id)
        return {"key": key, "kind": kind, "layout": layout, "id": str(id), "block": block.hex(), "text": text}

    cases = [case("a", "user", layout, id) for layout in ("default", "discord", "safe53") for id in ids_of(layout)]
    cases += [case(key, kind, "default", 382138004275228672) for key in KEYS for kind in ("user", "usr", "order", "a", "z" * 63)]
    return cases + [case("c", "order", "tsid", id) for id in random_ids(16)]


def short():
    def case(key, kind, layout, slot, id):
        return {
            "key": key, "kind": kind, "layout": layout, "bits": 64 if BITS[layout] == 64 else 63, "slot": slot, "id": str(id),
            "value": str(short_value(KEYS[key], kind, layout, slot, id)), "text": short_text(KEYS[key], kind, layout, slot, id),
        }

    cases = [case("a", "user", layout, 0, id) for layout in ("default", "discord", "safe53") for id in ids_of(layout)]
    for layout, slots in (("default", range(5)), ("mastodon", range(2))):
        cases += [case(key, "order", layout, slot, id) for key in KEYS for slot in slots for id in (0, 382138004275228672, 2**63 - 1)]
    cases += [case("c", "order", "default", 3, id % 2**63) for id in random_ids(16)]
    return cases + [case("c", "order", "tsid", 1, id) for id in random_ids(16)]


def rounds():
    def case(key, kind, layout, id):
        bits = 64 if BITS[layout] == 64 else 63
        pairs = [list(pair) for pair in halves_of(KEYS[key], kind, bits, id)]
        return {"key": key, "kind": kind, "layout": layout, "bits": bits, "id": str(id), "halves": pairs}

    return [case("a", "user", "default", 0), case("c", "order", "default", 382138004275228672), case("c", "order", "discord", 2**64 - 1)]


def rotated():
    id = 382138004275228672
    common = {"kind": "user", "layout": "default", "id": str(id)}
    cases = [{"form": "sealed", **common, "keys": ["c", "b", "a"], "text": sealed_text(KEYS[key], "user", id)} for key in ("a", "b", "c")]
    slots = [{"slot": 2, "key": "c"}, {"slot": 0, "key": "a"}, {"slot": 4, "key": "b"}]
    for pair in slots:
        text = short_text(KEYS[pair["key"]], "user", "default", pair["slot"], id)
        cases.append({"form": "short", **common, "keys": slots, "text": text})
    return cases


def malformed(text, width):
    """Texts that have another length, or a character that is no digit."""
    yield "empty", "", "length"
    yield "a digit too few", text[1:], "length"
    yield "a digit too many", text + "0", "length"
    yield "a zero in front", "0" + text, "length"
    yield "a line break at the end", text + "\n", "length"
    yield "a blank in front, one too many", " " + text, "length"
    yield "a blank in front", " " + text[1:], "digit"
    for character in ("-", "_", ".", "/", ":", "@", "[", "`", "{", "\0", "\x7f", "é", "\u212a", "\uff11"):
        for position in (0, width // 2, width - 1):
            wrong = text[:position] + character + text[position + 1:]
            yield f"{json.dumps(character)} at {position}", wrong, "digit"


def refused_sealed():
    kind, layout, id = "user", "default", 382138004275228672
    key = KEYS["a"]
    text = sealed_text(key, kind, id)
    value = number(text)
    cases = []

    def add(name, text, why, keys=("a",), kind=kind, layout=layout):
        cases.append({"name": name, "keys": list(keys), "kind": kind, "layout": layout, "text": text, "why": why})

    for case in malformed(text, 22):
        add(*case)
    add("the prefix with it", f"user_{text}", "length")
    add("the plain text", base62(id, 11), "length")
    add("the block as hexadecimal", seal(key, kind, id).hex(), "length")
    for position in range(22):
        other = text[:position] + DIGITS[(DIGITS.index(text[position]) + 1) % 62] + text[position + 1:]
        add(f"another digit at {position}", other, "range" if number(other) >= 2**128 else "key")
    add("the case changed", text.swapcase(), "range" if number(text.swapcase()) >= 2**128 else "key")
    for times in range(1, 8):
        if value + times * 2**128 < 62**22:
            add(f"the value and {times} times 2^128", base62(value + times * 2**128, 22), "range")
    add("2^128", base62(2**128, 22), "range")
    add("the largest digits", "z" * 22, "range")
    add("2^128 - 1", base62(2**128 - 1, 22), "key")
    add("zeros", "0" * 22, "key")
    for bit in range(64):
        add(f"a padding with bit {bit}", sealed_text(key, kind, id, 2**bit), "key")
    add("another key", text, "key", keys=("b",))
    add("none of several keys", text, "key", keys=("b", "c", "first"))
    add("another kind", text, "key", kind="users")
    add("a kind that differs in the last character", text, "key", kind="uses")
    derived = aes(derive(key, "frazil short", kind), id.to_bytes(8, "big") + bytes(8))
    add("the key of the other form", base62(int.from_bytes(derived, "big"), 22), "key")
    add("a key that is not derived", base62(int.from_bytes(aes(key, id.to_bytes(8, "big") + bytes(8)), "big"), 22), "key")
    add("the ID in the low half", sealed_text(key, kind, 0, id), "key")
    add("2^63", sealed_text(key, kind, 2**63), "id")
    add("2^64 - 1", sealed_text(key, kind, 2**64 - 1), "id")
    add("2^53 in 53 bits", sealed_text(key, kind, 2**53), "id", layout="safe53")
    add("2^63 in 53 bits", sealed_text(key, kind, 2**63), "id", layout="safe53")
    return cases


def refused_short():
    kind, id = "user", 382138004275228672
    key = KEYS["a"]
    cases = []

    def add(name, text, why, keys=({"slot": 0, "key": "a"},), kind=kind, layout="default"):
        cases.append({"name": name, "keys": list(keys), "kind": kind, "layout": layout, "text": text, "why": why})

    for case in malformed(short_text(key, kind, "default", 0, id), 11):
        add(*case)
    add("the sealed text", sealed_text(key, kind, id), "length")
    add("slot 1", short_text(key, kind, "default", 1, id), "slot")
    several = ({"slot": 1, "key": "a"}, {"slot": 3, "key": "b"})
    for slot in (0, 2, 4):
        add(f"slot {slot} of 1 and 3", short_text(key, kind, "default", slot, id), "slot", keys=several)
    every = tuple({"slot": slot, "key": name} for slot, name in enumerate(KEYS))
    add("the first value after slot 4", base62(5 * 2**63, 11), "slot", keys=every)
    add("the largest digits", "z" * 11, "slot", keys=every)
    both = ({"slot": 0, "key": "a"}, {"slot": 1, "key": "b"})
    add("64 bits: the first value after slot 1", base62(2 * 2**64, 11), "slot", keys=both, layout="discord")
    add("64 bits: the largest digits", "z" * 11, "slot", keys=both, layout="discord")
    add("64 bits: slot 1 of 0", short_text(key, kind, "discord", 1, id), "slot", layout="discord")
    for name, outside in (("2^53", 2**53), ("2^62", 2**62), ("2^63 - 1", 2**63 - 1)):
        add(f"{name} in 53 bits", short_text(key, kind, "safe53", 0, outside), "id", layout="safe53")
    return cases


def refused_keys():
    key = KEYS["c"]
    text = text_of_key(key)
    value, check = int.from_bytes(key, "big"), int.from_bytes(fingerprint(key)[:4], "big")
    cases = []

    def add(name, text, why):
        cases.append({"name": name, "text": text, "why": why})

    add("empty", "", "prefix")
    add("the prefix in capitals", "FRAZILKEY_" + text[10:], "prefix")
    add("no prefix", text[10:], "prefix")
    add("another prefix", "frazilpub_" + text[10:], "prefix")
    add("a blank in front", " " + text, "prefix")
    add("32 hexadecimal digits", key.hex(), "prefix")
    add("base64", "jzxR1+apC0Ry/RhuwDWboQ==", "prefix")
    add("a passphrase", "correct horse battery staple", "prefix")
    add("16 characters", "sixteen letters!", "prefix")
    add("the prefix alone", "frazilkey_", "length")
    add("no checksum", text[:32], "length")
    add("a digit too few", text[:-1], "length")
    add("a digit too many", text + "0", "length")
    add("a line break at the end", text + "\n", "length")
    add("a hyphen", text[:20] + "-" + text[21:], "digit")
    add("a blank at the end", text[:-1] + " ", "digit")
    add("\\u212a", text[:20] + "\u212a" + text[21:], "digit")
    for position in range(10, 38):
        other = text[:position] + DIGITS[(DIGITS.index(text[position]) + 1) % 62] + text[position + 1:]
        add(f"another digit at {position}", other, "range" if number(other[10:32]) >= 2**128 else "checksum")
    swapped = text[:20] + text[21] + text[20] + text[22:]
    assert swapped != text
    add("two digits exchanged", swapped, "checksum")
    add("2^128 more", key_text(value + 2**128, check), "range")
    add("the largest digits", "frazilkey_" + "z" * 28, "range")
    add("2^32 more in the checksum", key_text(value, check + 2**32), "checksum")
    add("the checksum of another key", text[:32] + text_of_key(KEYS["b"])[32:], "checksum")
    for byte in (0, 7, 255):
        add(f"{byte} in all bytes", text_of_key(bytes([byte]) * 16), "equal")
    cases.append({"name": "0 in all bytes", "text": {"bytes": 16}, "jsOnly": True, "why": "equal"})
    for other in (None, 12, True, [text], {"bytes": 0}, {"bytes": 15}, {"bytes": 17}, {"bytes": 32}):
        cases.append({"name": "not a key", "text": other, "jsOnly": True, "why": "type"})
    return cases


def vectors():
    labels = [("frazil fingerprint", "")]
    labels += [(f"frazil {form}", kind) for form in ("sealed", "short") for kind in ("user", "usr", "order", "a", "a_b", "z" * 63)]
    return {
        "_comment": COMMENT,
        "keys": [
            {"name": name, "key": key.hex(), "text": text_of_key(key), "fingerprint": fingerprint(key).hex()}
            for name, key in KEYS.items()
        ],
        "derived": [
            {"key": name, "label": label, "kind": kind, "derived": derive(key, label, kind).hex()}
            for name, key in KEYS.items() for label, kind in labels
        ],
        "sealed": sealed(),
        "short": short(),
        "rounds": rounds(),
        "rotated": rotated(),
        "refusedSealed": refused_sealed(),
        "refusedShort": refused_short(),
        "refusedKeys": refused_keys(),
        "kinds": ["a", "ab", "usr", "user", "a_b", "a__b", "z" * 63],
        "refusedKinds": ["", "_", "a_", "_a", "A", "User", "usr1", "1", "a-b", "a b", " a", "a ", "a\n", "é", "a\0", "z" * 64],
    }


def render(value, depth=0):
    """As src/vectors/json.rs: a value that fits on a line has one line, so that a changed case is a changed line in git."""
    line = one_line(value)
    if (depth and len(line.encode()) + 2 * depth <= 240) or not isinstance(value, (dict, list)):
        return line
    if isinstance(value, dict):
        opening, members, closing = "{", [f"{json.dumps(key)}: {render(member, depth + 1)}" for key, member in value.items()], "}"
    else:
        opening, members, closing = "[", [render(item, depth + 1) for item in value], "]"
    lines = ",\n".join("  " * (depth + 1) + member for member in members)
    return f"{opening}\n{lines}\n{'  ' * depth}{closing}"


def one_line(value):
    if isinstance(value, list):
        return f"[{', '.join(map(one_line, value))}]"
    if isinstance(value, dict):
        members = ", ".join(f"{json.dumps(key)}: {one_line(member)}" for key, member in value.items())
        return f"{{ {members} }}" if members else "{}"
    return json.dumps(value, ensure_ascii=False)


def main(arguments):
    if arguments not in ([], ["--check"]):
        return "usage: public.py [--check]"
    text = render(vectors()) + "\n"
    if not arguments:
        FILE.write_text(text, encoding="utf-8")
    elif not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
        return "crates/core/vectors/public.json is stale; to write it again: python3 crates/reference/public.py"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
