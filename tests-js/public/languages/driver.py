# After the code of the page: answers "seal KEY ID" and "open KEY TEXT" (hexadecimal), line by line.
import sys

for line in sys.stdin:
    call, key, value = line.rstrip("\n").split(" ")
    key = bytes.fromhex(key)
    if call == "seal":
        print(seal_id(int(value), key))
    else:
        id = open_id(bytes.fromhex(value).decode(), key)
        print("refused" if id is None else id)
