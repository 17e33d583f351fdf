import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.OptionalLong;

/** Beside the code of the page: answers "seal KEY ID" and "open KEY TEXT" (hexadecimal), line by line. */
class Driver {
    public static void main(String[] arguments) throws Exception {
        HexFormat hex = HexFormat.of();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            String[] parts = line.split(" ", -1);
            byte[] key = hex.parseHex(parts[1]);
            if (parts[0].equals("seal")) {
                System.out.println(PublicIds.seal(Long.parseUnsignedLong(parts[2]), key));
            } else {
                OptionalLong id = PublicIds.open(new String(hex.parseHex(parts[2]), StandardCharsets.UTF_8), key);
                System.out.println(id.isPresent() ? Long.toUnsignedString(id.getAsLong()) : "refused");
            }
        }
    }
}
